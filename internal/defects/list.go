package main

// defects is every deliberate defect, in the order of the rows they redden.
var defects = []defect{}
