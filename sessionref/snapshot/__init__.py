"""What is carried over: a session's conversation, fitted to a budget and framed.  Pure."""
