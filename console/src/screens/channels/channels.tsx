import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import { faultsOf } from '../../api/problem.ts'
import type {
  NotificationChannel,
  DefaultRoute as Route,
  Severity,
} from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Changed } from '../../ui/changed.tsx'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { formatPairs, parsePairs } from '../shared/pairs.ts'
import { ownerOf, useNames } from '../shared/people.ts'
import { severities } from '../shared/severities.ts'
import { numbered } from '../suppressions/draft.ts'
import css from '../suppressions/suppressions.module.css'
import { ChannelPage, ChannelState, receiverOf } from './channel.tsx'
import { channelTypes } from './draft.ts'
import { NewChannel } from './editor.tsx'

const page = 100

/** The receivers of messages, and who hears of rules that name none. */
export function Channels() {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const nameOf = useNames()
  const [{ channel }, change] = useUrlState()
  const open = (id: string | undefined) => change({ channel: id, tab: undefined }, { push: true })
  const channels = usePages(
    ['channels', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/incidents/channels', {
        params: { query: { limit: page, cursor } },
        signal,
      }),
    (each) => each.channels,
  )
  if (channel !== undefined && channel !== 'new') {
    return <ChannelPage key={channel} channel_id={channel} onBack={() => open(undefined)} />
  }
  return (
    <>
      <Heading title="Channels">
        <Button look="primary" disabled={!isAdmin} onClick={() => open('new')}>
          New channel
        </Button>
      </Heading>
      {!isAdmin && <p className={ui.soft}>Only admins of the project can change channels.</p>}
      {channel === 'new' && <NewChannel onClose={() => open(undefined)} onCreated={open} />}
      <List
        label="Channels"
        pages={channels}
        columns={columns(project_id, nameOf)}
        keyOf={({ channel_id }) => channel_id}
        onOpen={({ channel_id }) => open(channel_id)}
        empty={
          <Empty title="No channels">
            <p>
              A channel receives the messages of incidents: Slack, PagerDuty, mail or your own
              service.
            </p>
          </Empty>
        }
      />
      <DefaultRoute channels={channels.rows.map(({ name }) => name)} />
    </>
  )
}

const columns = (
  project_id: string,
  nameOf: (by: string) => string,
): Column<NotificationChannel>[] => [
  {
    id: 'name',
    head: 'Channel',
    cell: ({ channel_id, name }) => (
      <Link
        to="/p/$project_id/channels"
        params={{ project_id }}
        search={{ channel: channel_id } as never}
      >
        <Plain>{name}</Plain>
      </Link>
    ),
  },
  {
    id: 'type',
    head: 'Type',
    cell: ({ type }) => channelTypes.find(([each]) => each === type)?.[1] ?? type,
  },
  { id: 'to', head: 'Receiver', wide: true, cell: (row) => <Plain>{receiverOf(row)}</Plain> },
  { id: 'state', head: 'State', cell: (row) => <ChannelState of={row} /> },
  {
    id: 'fallback',
    head: 'Fallback',
    wide: true,
    cell: ({ fallback }) => (fallback === null ? '–' : <Plain>{fallback}</Plain>),
  },
  {
    id: 'managed_by',
    head: 'Owner',
    wide: true,
    cell: (channel) => <Plain>{ownerOf(channel, nameOf)}</Plain>,
  },
  {
    id: 'updated_at',
    head: 'Changed',
    number: true,
    cell: ({ updated_at }) => <Time at={updated_at} ago />,
  },
]

const routePath = '/api/v2/observability/incidents/default-route'

/** Who hears of incidents whose rule names no channel: the first match counts. */
function DefaultRoute({ channels }: { channels: readonly string[] }) {
  const route = api.useQuery('get', routePath, {})
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

type RouteLine = { severity: Severity | ''; labels: string; notify: string }

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
  const [lines, setLines] = useState<readonly RouteLine[]>(() =>
    stored.matches.map(({ min_severity, labels, notify: names }) => ({
      severity: min_severity ?? '',
      labels: formatPairs(labels),
      notify: names.join(', '),
    })),
  )
  const save = useMutation({
    mutationFn: () =>
      call.PUT(routePath, {
        params: { header: { 'If-Match': `"${stored.version}"` } },
        body: { matches: lines.map(matchOf) },
      }),
    onSuccess: () => {
      notify('The default route is changed')
      onChanged()
    },
  })
  const faults = faultsOf(save.error)
  const put = (at: number, change: Partial<RouteLine>) =>
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

function matchOf({ severity, labels, notify: names }: RouteLine) {
  return {
    ...(severity !== '' && { min_severity: severity }),
    labels: parsePairs(labels),
    notify: names
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  }
}
