import { useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { AuditCheckpoint, AuditedRead } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { isOrganizationAdmin, useOrganization } from '../../session/organization.ts'
import { useProjectId } from '../../session/project.ts'
import { useSession } from '../../session/session.ts'
import { Copy } from '../../ui/copy.tsx'
import { downloadText } from '../../ui/download.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { formatCount } from '../../ui/format.ts'
import { Actor, Progress } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Badge, Button, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Fault } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'
import { Events } from './events.tsx'
import { Verify } from './verify.tsx'

/** The audit trail: records of calls, reads of contents, and the check that no record was changed. */
export function Audit() {
  const [search, change] = useUrlState()
  const { data: session } = useSession()
  const organization = useOrganization()
  const isAdministrator = session?.installation_admin === true
  const mayRead = isOrganizationAdmin(organization)
  const chain = mayRead && search['chain'] !== 'installation' ? 'organization' : 'installation'
  if (!mayRead && !isAdministrator) {
    return (
      <>
        <Heading title="Audit" />
        <NeedsRole what="Reading what others did" needs="admin in the organization" />
      </>
    )
  }
  return (
    <>
      <Heading title="Audit">
        {isAdministrator && mayRead && (
          <SelectField
            label="Records of"
            value={chain}
            options={[
              ['organization', 'this organization'],
              ['installation', 'the installation: sign-ins and accounts'],
            ]}
            onChange={({ target }) =>
              change({ chain: target.value === 'installation' ? 'installation' : undefined })
            }
          />
        )}
      </Heading>
      <Tabs
        label="Audit"
        tabs={[
          { id: 'events', title: 'Events', render: () => <Events chain={chain} /> },
          { id: 'reads', title: 'Reads of contents', render: () => <Reads chain={chain} /> },
          { id: 'verify', title: 'Verify', render: () => <Verify key={chain} chain={chain} /> },
          { id: 'checkpoints', title: 'Checkpoints', render: () => <Checkpoints chain={chain} /> },
          { id: 'export', title: 'Export', render: () => <Export key={chain} chain={chain} /> },
        ]}
      />
    </>
  )
}

/** Records that one file of the browser holds at most. */
const records_max = 100_000

type Part = { text: string; last_seq: number; records: number }

/** Reads the next records of a chain as lines of JSON. */
async function readPart(chain: Chain, after_seq: number): Promise<Part> {
  const { data } = await call.GET('/api/v2/audit/export', {
    params: { query: { chain, after_seq } },
    parseAs: 'text',
  })
  const lines = String(data ?? '')
    .split('\n')
    .filter(Boolean)
  const last = lines.at(-1)
  const last_seq = last === undefined ? after_seq : (JSON.parse(last) as { seq: number }).seq
  return { text: lines.map((line) => `${line}\n`).join(''), last_seq, records: lines.length }
}

/** Saves the records as a file, for a check without the service. */
function Export({ chain }: { chain: Chain }) {
  const [after, setAfter] = useState('0')
  const [done, setDone] = useState<number>()
  const [error, setError] = useState<unknown>()
  const run = async () => {
    setError(undefined)
    setDone(0)
    const texts: string[] = []
    let [at, count] = [Number(after), 0]
    try {
      for (;;) {
        const part = await readPart(chain, at)
        if (part.records === 0) break
        texts.push(part.text)
        at = part.last_seq
        count += part.records
        setDone(count)
        if (count >= records_max) break
      }
      downloadText(`audit-${chain}-${after}-${at}.ndjson`, texts.join(''), 'application/x-ndjson')
      notify(`${formatCount(count)} records up to ${at} are saved.`)
      setAfter(String(at))
    } catch (fault) {
      setError(fault)
    }
    setDone(undefined)
  }
  return (
    <div className={ui.stack}>
      <p>
        One record a line. Check the file later against your own copies of checkpoints and keys:{' '}
        <code>
          looptrace audit verify records.ndjson --checkpoints checkpoints/ --keys jwks.json
        </code>
      </p>
      <form
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <TextField
          label="After record number"
          type="number"
          min={0}
          required
          value={after}
          onChange={({ target }) => setAfter(target.value)}
        />
        <Button type="submit" look="primary" disabled={done !== undefined}>
          Save the records
        </Button>
      </form>
      <p className={ui.soft}>
        A file has up to {formatCount(records_max)} records and a few more. The next one continues
        after the last number.
      </p>
      {done !== undefined && <Progress label={`${formatCount(done)} records read`} />}
      {error !== undefined && <Fault error={error} />}
    </div>
  )
}

/** The signed checkpoints of a chain. */
function Checkpoints({ chain }: { chain: Chain }) {
  const project_id = useProjectId()
  const checkpoints = usePages(
    ['audit-checkpoints', project_id, chain],
    async (cursor, signal) => {
      const query = { chain, limit: 50, ...(cursor !== undefined && { from_seq: Number(cursor) }) }
      const { data } = await call.GET('/api/v2/audit/checkpoints', { params: { query }, signal })
      if (data === undefined) return {}
      const next_cursor = data.next_seq === null ? null : String(data.next_seq)
      return { data: { checkpoints: data.checkpoints, next_cursor } }
    },
    (each) => each.checkpoints,
  )
  return (
    <div className={ui.stack}>
      <p className={ui.soft}>
        A checkpoint signs all records up to its number. Keep copies outside of the database, with
        the public keys of <code>/api/v2/audit/keys</code>.
      </p>
      <List
        label="Checkpoints"
        pages={checkpoints}
        columns={checkpointColumns}
        keyOf={({ seq, kind }) => `${seq} ${kind}`}
        empty={
          <Empty title="No checkpoint yet">
            <p>A worker signs one after 1,000 records, or an hour after a new record.</p>
          </Empty>
        }
      />
    </div>
  )
}

const checkpointColumns: Column<AuditCheckpoint>[] = [
  { id: 'seq', head: 'Up to record', number: true, cell: ({ seq }) => seq },
  { id: 'time', head: 'Signed', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'kind',
    head: 'Kind',
    cell: ({ kind }) => (kind === 'pruned' ? 'records deleted by retention' : 'end of the chain'),
  },
  {
    id: 'published',
    head: 'Published',
    cell: ({ published_at }) =>
      published_at === null ? <Badge tone="warn">not published</Badge> : <Time at={published_at} />,
  },
  {
    id: 'copy',
    head: 'Envelope',
    cell: ({ envelope }) => (
      <Copy small text={() => JSON.stringify(envelope)}>
        Copy
      </Copy>
    ),
  },
]

/** Which person read which task, trace, conversation, document or query result. */
function Reads({ chain }: { chain: Chain }) {
  const project_id = useProjectId()
  const [{ actor_id, resource_id }, change] = useUrlState()
  const query = {
    chain,
    limit: 50,
    ...(actor_id !== undefined && { actor_id }),
    ...(resource_id !== undefined && { resource_id }),
  }
  const reads = usePages(
    ['audited-reads', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v2/audit/reads', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.reads,
  )
  return (
    <div className={ui.stack}>
      <form
        key={`${actor_id} ${resource_id}`}
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => {
          event.preventDefault()
          const values = new FormData(event.currentTarget)
          const text = (name: string) => String(values.get(name)).trim() || undefined
          change({ actor_id: text('actor'), resource_id: text('resource') })
        }}
      >
        <TextField label="Id of the person" name="actor" defaultValue={actor_id ?? ''} />
        <TextField label="Id of what was read" name="resource" defaultValue={resource_id ?? ''} />
        <Button type="submit">Filter</Button>
      </form>
      <List
        label="Reads of contents"
        pages={reads}
        columns={readColumns}
        keyOf={({ request_id, action, read_at }) => `${request_id} ${action} ${read_at}`}
        empty={
          <Empty title="No reads of contents">
            <p>
              A read of a task, trace, conversation, document or query result by a person is listed
              after about half a second.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

const readColumns: Column<AuditedRead>[] = [
  { id: 'time', head: 'Time', cell: ({ read_at }) => <Time at={read_at} /> },
  {
    id: 'who',
    head: 'Who',
    cell: ({ actor_kind, actor_id }) => <Actor of={`${actor_kind}:${actor_id}`} />,
  },
  { id: 'action', head: 'Action', cell: ({ action }) => <Plain>{action}</Plain> },
  {
    id: 'what',
    head: 'What',
    cell: ({ resource_type, resource_id }) => (
      <Plain>{`${resource_type} ${resource_id ?? ''}`}</Plain>
    ),
  },
  {
    id: 'from',
    head: 'From',
    wide: true,
    cell: ({ origin }) => (origin === null ? 'erased' : <Plain>{origin.address}</Plain>),
  },
]
