"""What a log means: header, records, surface, title.  Pure: byte lines in, values out."""
