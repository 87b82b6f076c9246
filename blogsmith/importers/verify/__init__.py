"""Whether an import lost something: what stands in pages is counted on both sides and compared."""
