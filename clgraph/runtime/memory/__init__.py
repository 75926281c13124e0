"""Arrays on a device, the allocation of device memory, and copies between host and device."""
