import { z } from 'zod'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import {
  Answer,
  type AuthoriseAgain,
  type Caller,
  defineRoute,
  eventsMediaType,
  type Route,
} from '../../platform/http/index.ts'
import type { EventHub } from './event-hub.ts'
import { countTopics, parseTopics, scopesOfTopics, type Topics, topics_max } from './topics.ts'

/** GET /api/v1/events: hints about changes, as server-sent events. */
export function getEvents({ events }: { events: Pick<EventHub, 'open'> }): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/events',
    id: 'streamEvents',
    summary:
      'Stream of ids of changed tasks, traces, findings and incidents, as server-sent events',
    auth: 'jwt_or_key',
    scope: {
      level: 'project',
      role: 'viewer',
      key: ['tasks:read', 'incidents:read', 'traces:read'],
    },
    events: true,
    headers: [
      {
        name: 'Last-Event-ID',
        required: false,
        description: 'Id of the last event that the client has seen. Browsers send it.',
      },
    ],
    query: querySchema,
    reply: eventSchema,
    errors: ['overloaded', 'shutting_down'],
    handle: async ({ query, caller, headers, authoriseAgain }) => {
      const checkRights = rightsOf(query.topics, caller, authoriseAgain)
      // The route admits a key with any of the scopes, and each topic needs its own.
      if (caller.kind !== 'user') await checkRights()
      const { project_id } = caller
      const sent = headers['last-event-id']
      const last_event_id = typeof sent === 'string' && sent !== '' ? sent : query.last_event_id
      const open = () =>
        events.open({ project_id, topics: query.topics, last_event_id, checkRights })
      return Answer.stream({ media_type: eventsMediaType, open }, streamHeaders)
    },
  })
}

const streamHeaders = {
  'cache-control': 'no-store',
  // Proxies such as nginx would hold events back.
  'x-accel-buffering': 'no',
  // After the last event, the connection must not wait for another request.
  connection: 'close',
}

const topicsSchema = z
  .string()
  .max(16_000, { error: expected('at most 16,000 characters') })
  .transform((text, context): Topics => {
    const topics = parseTopics(text)
    if (!('invalid' in topics)) return topics
    const got = topics.invalid.slice(0, 80)
    context.addIssue(
      `got "${got}", expected tasks, incidents, findings, task:<id> or trace:<id>, separated by commas`,
    )
    return z.NEVER
  })
  .refine((topics) => countTopics(topics) <= topics_max, {
    error: expected(`at most ${topics_max} topics`),
  })
  .meta({
    type: 'string',
    description: `Topics, separated by commas: \`tasks\`, \`incidents\`, \`findings\`, \`task:<id>\` and \`trace:<id>\`; at most ${topics_max}. The id of a task is percent-encoded, also within the encoding of the URL. A key needs \`tasks:read\`, \`incidents:read\` for incidents, and \`traces:read\` for a trace.`,
  })

const querySchema = z.strictObject({
  topics: topicsSchema,
  last_event_id: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Id of the last event that the client has seen, for clients that cannot set headers.',
    ),
})

/** The data of the event `change`; the others have fields of their own. */
const eventSchema = record('ChangeEvent', {
  kind: z.enum(['task', 'trace', 'finding', 'incident']).describe('Kind of the changed objects.'),
  topics: z.array(z.string()).describe('Topics of the stream that the event concerns.'),
  changed: z
    .array(
      record('ChangedObject', {
        id: z.string().describe('Id of the object.'),
        version: z.int().optional().describe('Version of an incident.'),
        task_id: z.string().optional().describe('Task of a finding.'),
      }),
    )
    .describe('Changed objects of these topics, at most 100.'),
  many: z
    .boolean()
    .describe(
      '`true`: more objects changed than are listed. Read all objects of the topics again.',
    ),
})

/** Returns the check of a caller for topics: once for a person, and for each scope of a key. */
function rightsOf(
  topics: Topics,
  { kind }: Caller,
  authoriseAgain: AuthoriseAgain,
): () => Promise<void> {
  if (kind === 'user') return () => authoriseAgain()
  return async () => {
    for (const scope of scopesOfTopics(topics)) await authoriseAgain(scope)
  }
}
