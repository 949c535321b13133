"""Which sessions match: the protocol of discovery, and the scan that reads the logs."""

from sessionref.discovery.diagnostics import Diagnostic
from sessionref.discovery.protocol import Discovery
from sessionref.discovery.scan import ScanDiscovery

__all__ = ["Diagnostic", "Discovery", "ScanDiscovery"]
