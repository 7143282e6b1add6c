"""How the administration writes what Django writes by itself."""
