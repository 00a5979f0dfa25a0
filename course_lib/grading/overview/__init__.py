"""The class at a glance: one page from the results that exist, and what the class should hear about next."""
