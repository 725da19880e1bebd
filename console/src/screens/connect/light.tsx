import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Task } from '../../api/schema.gen.d.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Button, classes, Time } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type ArrivedCall, findArrivalOf, reasonFor } from './arrival.ts'
import css from './connect.module.css'

/** Tasks with activity that are listed: others of the project may be busy meanwhile. */
const listed_tasks_max = 100
/** Tasks with calls whose timelines are read. */
const tasks_max = 10
/** Calls of a page. */
const entries_max = 1_000

type Seen = { task: Task; call: ArrivedCall }
type Wanted = { project_id: string; since: string; starts: Map<string, string> }

function newWait(project_id: string, since: string): Wanted {
  return { project_id, since, starts: new Map() }
}

/** Reads the first call that began at an instant or later, an answered one before a failed one. */
async function readArrival(wanted: Wanted): Promise<Seen | null> {
  const query = { from: wanted.since, limit: listed_tasks_max }
  const { data } = await call.GET('/api/v1/tasks', { params: { query } })
  let failed: Seen | null = null
  for (const task of (data?.tasks ?? []).filter(({ calls }) => calls > 0).slice(0, tasks_max)) {
    const { task_id } = task
    const arrived = await findArrivalOf(task_id, wanted, (cursor) => readCalls(task_id, cursor))
    if (arrived === undefined) continue
    if (!arrived.isError) return { task, call: arrived }
    failed ??= { task, call: arrived }
  }
  return failed
}

async function readCalls(task_id: string, cursor: string | undefined) {
  const query = { role: 'model_call', limit: entries_max, ...(cursor !== undefined && { cursor }) }
  const params = { path: { task_id }, query }
  const { data } = await call.GET('/api/v1/tasks/{task_id}/timeline', { params })
  return data ?? { entries: [], next_cursor: null }
}

/** Turns on when a call arrives, and says what to check until then. */
export function Light({ advice }: { advice: readonly string[] }) {
  const project_id = useProjectId()
  const [round, setRound] = useState(0)
  // The clock of the service counts: that of the browser may be wrong.
  const start = api.useQuery(
    'get',
    '/api/v1/onboarding/report',
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
      refetchOnWindowFocus: false,
      select: ({ checked_at, checks }) => ({
        since: checked_at,
        hadCall: checks.find(({ id }) => id === 'first_call')?.state === 'done',
      }),
    },
  )
  const since = start.data?.since
  const wanted = useMemo(() => newWait(project_id, since ?? ''), [project_id, since])
  const arrival = useQuery({
    queryKey: ['first-call', project_id, since, round],
    queryFn: () => readArrival(wanted),
    enabled: since !== undefined,
  })
  useLive('tasks', () => {
    if (arrival.data === null || arrival.data?.call.isError) void arrival.refetch()
  })
  const error = start.error ?? arrival.error
  if (error) return <Fault error={error} retry={() => void arrival.refetch()} />
  const again = () => {
    void start.refetch()
    setRound(round + 1)
  }
  if (arrival.data) return <On seen={arrival.data} again={again} />
  return <Off since={since} hadCall={start.data?.hadCall === true} advice={advice} />
}

function On({ seen: { task, call }, again }: { seen: Seen; again: () => void }) {
  const project_id = useProjectId()
  const { provider, model, isError, status_code, message, total_tokens } = call
  const rule = clientOfRule(task.task_rule)
  return (
    <section className={ui.notice} aria-label="First call">
      <span aria-hidden="true" className={classes(css.light, isError ? css.failed : css.on)} />
      <div className={ui.grow} role="status">
        <strong>
          {isError ? 'A call arrived, but the provider refused it' : 'Connected: a call arrived'}
        </strong>
        <p>
          <Plain>{[provider, model].filter(Boolean).join(' ')}</Plain>
          {rule !== undefined && `, sent by ${rule}`}
          {isError ? `, status ${status_code || 'unknown'}. ` : `, ${total_tokens} tokens. `}
          <Time at={call.time} />
        </p>
        {message !== '' && (
          <p>
            <Plain>{message}</Plain>
          </p>
        )}
        {isError && <p>{reasonFor(status_code)}</p>}
        <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id: task.task_id }}>
          Open the task <Plain>{task.name || task.task_id}</Plain>
        </Link>
      </div>
      <Button onClick={again}>Wait for another call</Button>
    </section>
  )
}

const rules: Record<string, string> = {
  claude_code: 'Claude Code',
  codex: 'Codex CLI',
  x_opencode_session: 'OpenCode',
}

/** Returns the program that a rule for tasks recognized, if the rule belongs to one. */
function clientOfRule(rule: string | null): string | undefined {
  return rule === null ? undefined : rules[rule]
}

function Off({
  since,
  hadCall,
  advice,
}: {
  since: string | undefined
  hadCall: boolean
  advice: readonly string[]
}) {
  return (
    <section className={ui.stack} aria-label="First call">
      <div className={ui.notice}>
        <span aria-hidden="true" className={css.light} />
        <div className={ui.grow} role="status">
          <strong>{hadCall ? 'Waiting for a call…' : 'Waiting for the first call…'}</strong>
          <p className={ui.soft}>
            Paste the lines, then run your program. The light turns on by itself.
            {since !== undefined && (
              <>
                {' '}
                Calls since <Time at={since} /> count.
              </>
            )}
          </p>
        </div>
      </div>
      <details>
        <summary>What to check if no call arrives</summary>
        <ul className={css.advice}>
          {advice.map((line) => (
            <li key={line}>{line}</li>
          ))}
          <li>
            <HereLink change={{ tab: 'checks' }}>Read the checks of this project</HereLink>, or run{' '}
            <code>looptrace doctor</code> on the machine of the client.
          </li>
        </ul>
      </details>
    </section>
  )
}
