/**
 * The screens of a project, in the order of the navigation. `key` goes there after `g`. A screen
 * that is not in the navigation, such as one task, has its own line in `router.tsx`.
 */
export const places = [
  { group: 'Watch', path: 'overview', title: 'Overview', key: 'o' },
  { group: 'Watch', path: 'tasks', title: 'Tasks', key: 't' },
  { group: 'Watch', path: 'conversations', title: 'Conversations', key: 'c' },
  { group: 'Watch', path: 'findings', title: 'Findings', key: 'f' },
  { group: 'Watch', path: 'query', title: 'Query', key: 'q' },
  { group: 'Respond', path: 'incidents', title: 'Incidents', key: 'i' },
  { group: 'Respond', path: 'rules', title: 'Rules', key: 'r' },
  { group: 'Respond', path: 'suppressions', title: 'Suppressions', key: 's' },
  { group: 'Respond', path: 'channels', title: 'Channels', key: 'n' },
  { group: 'Trust', path: 'verification', title: 'Verification', key: 'v' },
  { group: 'Trust', path: 'feedback', title: 'Feedback', key: 'b' },
  { group: 'Trust', path: 'review', title: 'Review', key: 'w' },
  { group: 'Trust', path: 'certification', title: 'Certification', key: 'e' },
  { group: 'Data', path: 'retention', title: 'Retention', key: 'd' },
  { group: 'Data', path: 'archives', title: 'Archives', key: 'h' },
  { group: 'Data', path: 'erasures', title: 'Holds and erasures', key: 'x' },
  { group: 'Data', path: 'stores', title: 'Stores', key: 'y' },
  { group: 'Project', path: 'connect', title: 'Connect', key: 'l' },
  { group: 'Project', path: 'access', title: 'Access', key: 'm' },
  { group: 'Project', path: 'audit', title: 'Audit', key: 'a' },
  { group: 'Project', path: 'settings', title: 'Settings', key: 'p' },
] as const
