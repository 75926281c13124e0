"""Arrays on a device, their allocation, and copies between host and device."""
