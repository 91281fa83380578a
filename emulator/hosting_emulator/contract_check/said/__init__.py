"""The contract's sentences, quoted: data, and nothing else."""
