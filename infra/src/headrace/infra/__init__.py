"""Process-level toolkits that know nothing of the object model."""
