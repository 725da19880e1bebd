/** The groups of operations: the nouns of the URLs. */
const descriptions: Record<string, string> = {
  access: 'Organizations, projects, members, service accounts and keys.',
  auth: 'Sign-in: access tokens and passwords.',
  conversations: 'Conversations: their tasks, traces and the health of their context.',
  detection: 'What detectors look for in tasks, and from which thresholds on.',
  observability:
    'Canonical ingest, traces, queries, retention, archives, stores and the completeness ledger.',
  proxy: 'The data plane: completions and OTLP.',
  service: 'The server itself: this document and the keys of its tokens.',
  tasks: 'Tasks: their calls, tools, findings and cost.',
}

/** The tag of an operation, by its URL. */
export function tagOf(url: string): string {
  const [, first = '', second = '', third = ''] = url.split('/')
  if (first !== 'api') return first === 'v1' ? 'proxy' : 'service'
  return second === 'v2' || second === 'v1' ? third : second
}

/** The tags of these URLs with their descriptions. */
export function tagsOf(urls: readonly string[]): { name: string; description: string }[] {
  const names = [...new Set(urls.map(tagOf))].toSorted()
  return names.map((name) => ({ name, description: descriptions[name] ?? '' }))
}
