import type { CheckId } from './check-ids.ts'

/** A command for a POSIX shell that completes a missing check. It uses `variables`. */
export type Command = { tool: 'curl' | 'kubectl' | 'looptrace'; text: string }

/** Variables of the commands, with their meanings. */
export const variables = {
  LOOPTRACE_URL: 'URL of the API, such as http://127.0.0.1:8080.',
  LOOPTRACE_PROXY_URL: 'URL of the proxy, where it differs from LOOPTRACE_URL.',
  LOOPTRACE_API_KEY: 'A project key (lt_…) with the default scopes.',
  LOOPTRACE_TOKEN:
    'An access token of an admin of the project: access_token of POST /api/v1/auth/token.',
  OPENAI_API_KEY: 'Your key of the model provider. It is passed on and stored nowhere.',
  ALERT_WEBHOOK_URL: 'URL of your webhook for incidents.',
} as const

/** The project and task that the commands name. `today` is a day in UTC, such as 2026-02-23. */
export type CommandSubject = { project_id: string; task_id: string; today: string }
type About = CommandSubject

const proxy = `"\${LOOPTRACE_PROXY_URL:-$LOOPTRACE_URL}`
const json = `-H 'Content-Type: application/json'`
const key = `-H "X-API-Key: $LOOPTRACE_API_KEY"`

const lines = (...parts: string[]) => parts.join(' \\\n  ')
const curl = (...parts: string[]): Command => {
  return { tool: 'curl', text: lines('curl -sS --fail-with-body', ...parts) }
}

function byToken({ project_id }: About, method: string, path: string, body: object): Command {
  return curl(
    `-X ${method} "$LOOPTRACE_URL${path}"`,
    `-H "Authorization: Bearer $LOOPTRACE_TOKEN" -H 'X-Project-ID: ${project_id}' ${json}`,
    `-d '${JSON.stringify(body)}'`,
  )
}

/** Makes a command that applies a resource to the current cluster. */
function apply(kind: string, name: string, spec: readonly string[]): Command {
  const resource = [
    'apiVersion: looptrace.dev/v1alpha1',
    `kind: ${kind}`,
    `metadata: { name: ${name} }`,
    'spec:',
    '  projectRef: { name: default }',
    ...spec.map((line) => `  ${line}`),
  ]
  return { tool: 'kubectl', text: ["kubectl apply -f - <<'EOF'", ...resource, 'EOF'].join('\n') }
}

const completion = (more: string) =>
  curl(
    `${proxy}/v1/chat/completions"`,
    `${key} -H "Authorization: Bearer $OPENAI_API_KEY"`,
    `${json}${more}`,
    `-d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Say hello"}]}'`,
  )

/** A span of one millisecond that ends now, with ids of its own. */
const span = curl(
  `${proxy}/v1/traces" ${key} ${json}`,
  `-d '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"my-first-span","kind":1,"traceId":"'"$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')"'","spanId":"'"$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')"'","startTimeUnixNano":"'"$(date +%s)"'000000000","endTimeUnixNano":"'"$(date +%s)"'001000000"}]}]}]}'`,
)

/** The task of the commands, in a path. Ids are the client's own. */
function pathOf({ task_id }: About): string {
  return encodeURIComponent(task_id).replaceAll("'", '%27')
}

const makers: Readonly<Record<CheckId, (about: About) => Command[]>> = {
  project_key: (about) => [
    byToken(about, 'POST', `/api/v2/access/projects/${about.project_id}/api-keys`, {
      name: 'first key',
    }),
  ],
  first_call: () => [completion('')],
  first_task: () => [completion(` -H 'X-Task-ID: my-first-task'`)],
  first_verdict: (about) => [
    curl(`-X PUT "$LOOPTRACE_URL/api/v1/tasks/${pathOf(about)}/complete" ${key}`),
  ],
  first_span: () => [span],
  seeded_scenario: () => [
    curl(`-X POST "$LOOPTRACE_URL/api/v1/onboarding/seeded-reliability-scenario?wait=true" ${key}`),
  ],
  incident_rule: (about) => [
    byToken(about, 'POST', '/api/v2/observability/incidents/rules', {
      name: 'loops',
      severity: 'high',
      notify: ['on-call'],
      event: { match: { source: 'finding', kinds: ['loop'], min_severity: 'high' } },
    }),
    apply('IncidentRule', 'loops', [
      'event: { match: { source: finding, kinds: [loop], minSeverity: high } }',
      'severity: high',
      'notify: [on-call]',
    ]),
  ],
  notification_channel: ({ project_id }) => [
    curl(
      '-X POST "$LOOPTRACE_URL/api/v2/observability/incidents/channels"',
      `-H "Authorization: Bearer $LOOPTRACE_TOKEN" -H 'X-Project-ID: ${project_id}' ${json}`,
      `-d '{"name":"on-call","webhook":{"url":"'"$ALERT_WEBHOOK_URL"'"}}'`,
    ),
    apply('NotificationChannel', 'on-call', ['email: { to: [on-call@example.com] }']),
  ],
  ledger_complete: () => [{ tool: 'looptrace', text: 'looptrace ledger' }],
  verification: (about) => [
    byToken(about, 'POST', `/api/v1/verification/tasks/${pathOf(about)}/verify`, {
      async_mode: false,
    }),
  ],
  verification_policy: (about) => [
    byToken(about, 'PUT', '/api/v1/verification/policy', { enabled: true, sample_percent: 10 }),
  ],
  feedback: (about) => [
    curl(
      `-X POST "$LOOPTRACE_URL/api/v1/tasks/${pathOf(about)}/feedback" ${key} ${json}`,
      `-d '{"thumbs":"up","user_id":"first-user"}'`,
    ),
  ],
  retention_policy: (about) => [
    byToken(about, 'PUT', '/api/v2/observability/retention-policy', {
      days: { content: 30, observations: 90, traces: 365 },
    }),
    apply('RetentionPolicy', 'default', [
      'traces: { days: 365 }',
      'observations: { days: 90 }',
      'content: { days: 30 }',
    ]),
  ],
  archive: (about) => [
    byToken(about, 'POST', '/api/v2/observability/archive/run', {
      window: { from: yearBefore(about.today), to: `${about.today}T00:00:00Z` },
    }),
  ],
}

const year_ms = 365 * 86_400_000

/** Returns the start of the day a year before a day. */
function yearBefore(day: string): string {
  return `${new Date(Date.parse(day) - year_ms).toISOString().slice(0, 10)}T00:00:00Z`
}

/** Returns the commands that complete a missing check. The first one is sufficient. */
export function commandsFor(id: CheckId, about: About): Command[] {
  return makers[id](about)
}
