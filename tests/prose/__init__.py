"""A check of our English: phrases that readers stumble over, in code, messages and documents."""
