"""What a turn is given: arms, fusion, floor, assembly, and the trace of it all."""
