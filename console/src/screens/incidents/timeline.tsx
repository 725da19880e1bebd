import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { IncidentDetail, IncidentEvent } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Changed } from '../../ui/changed.tsx'
import { AreaField } from '../../ui/fields.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { MoreRows } from '../../ui/table.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { useNames } from '../shared/people.ts'
import css from './incidents.module.css'
import { useMoveIncident } from './move-incident.ts'

const page = 200

/** The timeline of an incident, oldest first, and a field for a comment. */
export function Timeline({ incident }: { incident: IncidentDetail }) {
  const project_id = useProjectId()
  const { incident_id: id, version, timeline } = incident
  const isWhole = timeline.next_cursor === null
  const more = usePages(
    ['incidents', project_id, id, 'events', version],
    async (cursor, signal) =>
      isWhole
        ? { data: timeline }
        : call.GET('/api/v2/observability/incidents/{id}/events', {
            params: { path: { id }, query: { limit: page, cursor } },
            signal,
          }),
    (each) => each.events,
  )
  return (
    <>
      <Loaded query={more} what="Reading the timeline">
        {() => (
          <>
            <ol className={css.list}>
              {more.rows.map((event) => (
                <Event key={event.seq} of={event} />
              ))}
            </ol>
            {more.rows.length === 0 && <p className={ui.soft}>Nothing has happened yet.</p>}
            <MoreRows
              hasMore={more.hasMore}
              isLoading={more.isLoadingMore}
              loadMore={more.loadMore}
            />
          </>
        )}
      </Loaded>
      <Comment incident={incident} />
    </>
  )
}

function Event({ of }: { of: IncidentEvent }) {
  const nameOf = useNames()
  return (
    <li className={css.event}>
      <span className={ui.soft}>
        <Time at={of.at} />
      </span>
      <div>
        <div className={ui.row}>
          <Badge tone={tones[of.type]}>{of.type.replaceAll('_', ' ')}</Badge>
          <span className={ui.soft}>
            {of.actor.type}{' '}
            <Plain>{of.actor.type === 'user' ? nameOf(of.actor.id) : of.actor.id}</Plain>
          </span>
          {of.notify.length > 0 && (
            <span className={ui.soft}>
              to <Plain>{of.notify.join(', ')}</Plain>
            </span>
          )}
        </div>
        {of.note !== null && <LongText text={of.note} />}
      </div>
    </li>
  )
}

const tones: Readonly<Record<string, 'good' | 'warn' | 'bad' | 'info'>> = {
  opened: 'bad',
  reopened: 'bad',
  raised: 'bad',
  escalated: 'warn',
  acknowledged: 'warn',
  resolved: 'good',
}

function Comment({ incident }: { incident: IncidentDetail }) {
  const isEditor = useHasRole('editor')
  const [note, setNote] = useState('')
  const { mutate, isPending, error, reset } = useMoveIncident(() => setNote(''))
  if (!isEditor) return null
  const { incident_id, number } = incident
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        // A comment does not depend on the version: two people may comment at once.
        mutate({ incident: { incident_id, number }, move: { type: 'comment', note } })
      }}
    >
      <AreaField
        label="Comment"
        rows={2}
        required
        maxLength={4_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      {error !== null && <Changed error={error} onReload={reset} />}
      <span>
        <Button type="submit" disabled={isPending || note.trim() === ''}>
          {isPending ? 'Sending…' : 'Add the comment'}
        </Button>
      </span>
    </form>
  )
}
