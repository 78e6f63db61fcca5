"""What is stored of an experiment: records, the store, manifests."""
