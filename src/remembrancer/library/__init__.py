"""The public library: `Remembrancer` (async), `SyncRemembrancer`, and what they are made of."""
