"""The session logs that the DeepSeek Harness writes: JSONL files, raw or zstd, in a folder."""
