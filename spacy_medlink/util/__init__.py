"""What every room may use and that is about no room in particular."""
