"""Reports on screen: results, exceptions, inventories, shoe audits, penetration."""
