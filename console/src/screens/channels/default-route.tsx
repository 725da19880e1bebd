import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { DefaultRoute as Route, Severity } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { Changed } from '../../ui/changed.tsx'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { formatPairs, parsePairs } from '../shared/pairs.ts'
import { severities } from '../shared/severities.ts'
import { numbered } from '../suppressions/draft.ts'
import css from '../suppressions/suppressions.module.css'

const path = '/api/v2/observability/incidents/default-route'

/** Who hears of incidents whose rule names no channel: the first match counts. */
export function DefaultRoute({ channels }: { channels: readonly string[] }) {
  const route = api.useQuery('get', path, {})
  return (
    <section className={ui.stack} aria-label="Default route">
      <h2>Default route</h2>
      <p className={ui.soft}>
        Rules that name no channel use the first line that matches. The last line should match
        everything.
      </p>
      <Loaded query={route} what="Reading the default route">
        {(data) => (
          <RouteEditor
            key={data.version}
            stored={data}
            channels={channels}
            onChanged={() => void route.refetch()}
          />
        )}
      </Loaded>
    </section>
  )
}

type Line = { severity: Severity | ''; labels: string; notify: string }

function RouteEditor({
  stored,
  channels,
  onChanged,
}: {
  stored: Route
  channels: readonly string[]
  onChanged: () => void
}) {
  const isAdmin = useHasRole('admin')
  const [lines, setLines] = useState<readonly Line[]>(() =>
    stored.matches.map(({ min_severity, labels, notify: names }) => ({
      severity: min_severity ?? '',
      labels: formatPairs(labels),
      notify: names.join(', '),
    })),
  )
  const save = useMutation({
    mutationFn: () =>
      call.PUT(path, {
        params: { header: { 'If-Match': `"${stored.version}"` } },
        body: { matches: lines.map(matchOf) },
      }),
    onSuccess: () => {
      notify('The default route is changed')
      onChanged()
    },
  })
  const faults = faultsOf(save.error)
  const put = (at: number, change: Partial<Line>) =>
    setLines(lines.map((line, index) => (index === at ? { ...line, ...change } : line)))
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <datalist id="route-channels">
        {channels.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <fieldset className={css.fields} disabled={!isAdmin}>
        <legend className={ui.visuallyHidden}>Lines of the route</legend>
        {numbered(lines).map(({ at, ...line }) => (
          <div key={at} className={css.matcher}>
            <SelectField
              label="Severity at least"
              options={[['', 'any'], ...severities.map((each) => [each, each] as const)]}
              value={line.severity}
              onChange={(event) => put(at, { severity: event.target.value as Severity })}
            />
            <TextField
              label="Labels"
              placeholder="team=payments"
              value={line.labels}
              onChange={(event) => put(at, { labels: event.target.value })}
              fault={faultAt(faults, `/matches/${at}/labels`)}
            />
            <TextField
              label="Channels"
              list="route-channels"
              required
              value={line.notify}
              onChange={(event) => put(at, { notify: event.target.value })}
              fault={faultAt(faults, `/matches/${at}/notify`)}
            />
            <Button
              aria-label={`Remove line ${at + 1}`}
              onClick={() => setLines(lines.filter((_, index) => index !== at))}
            >
              ×
            </Button>
          </div>
        ))}
        {lines.length === 0 && <p>No line: such rules notify nobody.</p>}
        <div className={ui.row}>
          <Button onClick={() => setLines([...lines, { severity: '', labels: '', notify: '' }])}>
            Add a line
          </Button>
          <Button type="submit" look="primary" disabled={save.isPending}>
            {save.isPending ? 'Saving…' : 'Save the route'}
          </Button>
        </div>
      </fieldset>
      {stored.warnings.map((warning) => (
        <p key={warning}>Warning: {warning}</p>
      ))}
      {save.error !== null && <Changed error={save.error} onReload={onChanged} />}
    </form>
  )
}

function matchOf({ severity, labels, notify: names }: Line) {
  return {
    ...(severity !== '' && { min_severity: severity }),
    labels: parsePairs(labels),
    notify: names
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  }
}
