"""Arrays on a device and copies to and from it."""
