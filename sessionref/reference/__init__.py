"""What a mention says: references in text, and their URIs.  Pure."""
