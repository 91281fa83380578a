"""What `doctor` checks. Each check is a function from facts to findings; `examining` gets the facts."""
