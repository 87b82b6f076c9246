"""What an attacker may try: each row of README.md is a test named after it."""
