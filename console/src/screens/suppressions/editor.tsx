import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useZone } from '../../browser/zone.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { queryClient } from '../../session/query-client.ts'
import { Changed } from '../../ui/changed.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { formatCount } from '../../ui/format.ts'
import { Button, Severity, Time } from '../../ui/parts.tsx'
import { Fault, Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { refreshIncidents } from '../shared/refresh-incidents.ts'
import { type Draft, draftOf, newDraft, readMatchers, requestOf } from './draft.ts'
import { SuppressionFields } from './fields.tsx'

/** The dialog that makes or changes a suppression. */
export function SuppressionEditor({ id, onClose }: { id: string; onClose: () => void }) {
  const zone = useZone()
  const [{ matchers }] = useUrlState()
  if (id === 'new') {
    const draft = newDraft(serverNow(), zone, readMatchers(matchers))
    return <Editor start={draft} stored={undefined} onClose={onClose} />
  }
  return <StoredEditor id={id} onClose={onClose} />
}

function StoredEditor({ id, onClose }: { id: string; onClose: () => void }) {
  const zone = useZone()
  const stored = api.useQuery(
    'get',
    '/api/v2/observability/incidents/suppressions/{suppression_id}',
    { params: { path: { suppression_id: id } } },
  )
  if (stored.data !== undefined) {
    const { data } = stored
    return <Editor key={data.version} start={draftOf(data, zone)} stored={data} onClose={onClose} />
  }
  return (
    <Dialog title="Suppression" open onClose={onClose} wide>
      <Loaded query={stored}>{() => null}</Loaded>
    </Dialog>
  )
}

function Editor({
  start,
  stored,
  onClose,
}: {
  start: Draft
  stored: IncidentSuppression | undefined
  onClose: () => void
}) {
  const zone = useZone()
  const isAdmin = useHasRole('admin')
  const [draft, setDraft] = useState(start)
  const save = useMutation({
    mutationFn: () => saveDraft(draft, zone, stored),
    onSuccess: async () => {
      notify(stored === undefined ? 'The suppression is in effect' : 'The suppression is changed')
      onClose()
      await refreshIncidents(queryClient)
    },
  })
  const faults = faultsOf(save.error)
  return (
    <Dialog
      title={stored === undefined ? 'New suppression' : 'Suppression'}
      open
      onClose={onClose}
      wide
    >
      <form
        className={ui.stack}
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <SuppressionFields {...{ draft, faults, zone }} onChange={setDraft} isLocked={!isAdmin} />
        {stored?.warnings.map((warning) => (
          <p key={warning} className={ui.soft}>
            Warning: {warning}
          </p>
        ))}
        <SuppressionPreview draft={draft} zone={zone} />
        {save.error !== null && (
          <Changed error={save.error} onReload={() => void refreshIncidents(queryClient)} />
        )}
        <div className={ui.row}>
          <Button type="submit" look="primary" disabled={!isAdmin || save.isPending}>
            {save.isPending ? 'Saving…' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <span className={ui.grow} />
          {stored !== undefined && isAdmin && <Delete stored={stored} onDone={onClose} />}
        </div>
      </form>
    </Dialog>
  )
}

const one = '/api/v2/observability/incidents/suppressions/{suppression_id}'

function saveDraft(draft: Draft, zone: string, stored: IncidentSuppression | undefined) {
  const body = requestOf(draft, zone)
  if (stored === undefined) {
    return call.POST('/api/v2/observability/incidents/suppressions', { body })
  }
  const { suppression_id, version } = stored
  return call.PUT(one, {
    params: { path: { suppression_id }, header: { 'If-Match': `"${version}"` } },
    body,
  })
}

function Delete({ stored, onDone }: { stored: IncidentSuppression; onDone: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const remove = useMutation({
    mutationFn: () =>
      call.DELETE(one, { params: { path: { suppression_id: stored.suppression_id } } }),
    onSuccess: async () => {
      notify('The suppression is deleted')
      onDone()
      await refreshIncidents(queryClient)
    },
    onError: notifyFault,
  })
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        Delete…
      </Button>
      <Confirm
        title="Delete the suppression"
        action="Delete the suppression"
        open={isAsked}
        onClose={() => setAsked(false)}
        onConfirm={() => remove.mutate()}
        isRunning={remove.isPending}
      >
        <p>
          It mutes {formatCount(stored.muted_incidents)} incidents now. Those that are still open
          are announced as still firing.
        </p>
      </Confirm>
    </>
  )
}

/** Shows which unresolved incidents the draft would mute. */
function SuppressionPreview({ draft, zone }: { draft: Draft; zone: string }) {
  const project_id = useProjectId()
  const preview = useMutation({
    mutationFn: async () => {
      const request = requestOf(draft, zone)
      const body = { ...request, comment: request.comment === '' ? 'preview' : request.comment }
      const { data } = await call.POST('/api/v2/observability/incidents/suppressions/preview', {
        body,
      })
      return data
    },
  })
  const { data, error } = preview
  return (
    <section className={ui.stack} aria-label="Preview">
      <div className={ui.row}>
        <Button disabled={preview.isPending} onClick={() => preview.mutate()}>
          {preview.isPending ? 'Comparing…' : 'Preview what it mutes'}
        </Button>
        {data !== undefined && (
          <span role="status">
            It would mute {formatCount(data.matching)} of {formatCount(data.compared)} unresolved
            incidents
            {data.active ? ' now' : ''}
            {data.next_start !== null && (
              <>
                , next from <Time at={data.next_start} />
              </>
            )}
            .
          </span>
        )}
      </div>
      {error !== null && <Fault error={error} />}
      {data?.warnings.map((warning) => (
        <p key={warning}>Warning: {warning}</p>
      ))}
      {data !== undefined && data.incidents.length > 0 && (
        <ul>
          {data.incidents.map(({ incident_id, number, title, severity }) => (
            <li key={incident_id}>
              <Severity of={severity} />{' '}
              <Link
                to="/p/$project_id/incidents/$incident_id"
                params={{ project_id, incident_id }}
                target="_blank"
              >
                #{number} <Plain>{title}</Plain>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
