"""The durable queue: work enqueued in the transaction that causes it."""
