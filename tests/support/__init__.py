"""What tests share: models, oracles, random programs, small worlds of files. Nothing here is a test."""
