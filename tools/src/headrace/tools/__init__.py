"""Programs that developers and CI run; nothing that ships imports them."""
