"""The paper's experiments, rebuilt: `mfbai reproduce`.

parts       PARTS: the chapters and their order, which nothing else knows
costs       what MF-GRAD, IISE and GRAD cost
constant    MF-GRAD at a constant learning rate
shares      how MF-GRAD spreads its cost over time
beyond      the other strategies, and the floor to measure them by
trap        where LUCBExplore does not stop
appendix    the tables derived by hand, and what they say of the paper's claims
examples    the instances and numbers of those tables
sparsity    is one fidelity for each arm enough? (also `python -m mfbai.paper.sparsity`)

pieces      what a chapter is made of: computations, figures, sheets, their scale and noise
claims      a claim and its verdict, computed from an interval
intervals   confidence intervals of means, ratios and shares
store       computed numbers in files, so that nothing is computed twice
document    headings, paragraphs, pictures and tables as Markdown and HTML
report      what a reproduction found, written as such a document
reproduce   all of it: compute, draw, judge, report
"""
