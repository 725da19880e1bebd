/** The options of `trace` that are parameters of the explorer route. */
export const treeOptions = {
  depth: { value: '<levels>', about: 'Maximum levels, 1–100. Default: 5.' },
  children: { value: '<n>', about: 'Maximum children of each node, 1–500. Default: 50.' },
  limit: { value: '<n>', about: 'Maximum nodes, 1–500. Default: 200.' },
  parent: { value: '<node>', about: 'Only nodes below this one.' },
  cursor: { value: '<cursor>', about: 'Start of the page: a cursor that the page before shows.' },
} as const
