import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { IngestStatus } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatCount } from '../../ui/format.ts'
import { Button, Facts, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './overview.module.css'

/** Looks up what became of one batch, by the id that its sender got. */
export function Receipt() {
  const [search, change] = useUrlState()
  const id = search['receipt']
  const [typed, setTyped] = useState(id ?? '')
  return (
    <section className={css.panel} aria-label="Receipt">
      <h3>Receipt of a batch</h3>
      <form
        className={ui.row}
        onSubmit={(event) => {
          event.preventDefault()
          change({ receipt: typed.trim() === '' ? undefined : typed.trim() })
        }}
      >
        <input
          type="text"
          className={ui.grow}
          aria-label="ingest_request_id"
          placeholder="ingest_request_id of the answer"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button type="submit">Look up</Button>
      </form>
      {id !== undefined && <Found id={id} />}
    </section>
  )
}

function Found({ id }: { id: string }) {
  const query = api.useQuery('get', '/api/v2/observability/ingest/{ingest_request_id}', {
    params: { path: { ingest_request_id: id } },
  })
  return (
    <Loaded query={query} what="Reading the receipt">
      {(found) => <Status of={found as IngestStatus} />}
    </Loaded>
  )
}

function Status({ of }: { of: IngestStatus }) {
  const { status, attempts, first_seen_at, last_seen_at, replayed_hits, error_reason } = of
  const result = of.result_payload
  return (
    <>
      <Facts
        of={[
          ['State', <State key="state" of={status} />],
          ['Schema', of.schema_version],
          ['First seen', <Time key="first" at={first_seen_at} />],
          ['Last seen', <Time key="last" at={last_seen_at} />],
          ['Attempts', formatCount(attempts)],
          ['Sent again', formatCount(replayed_hits)],
          ['Reason', error_reason === null ? null : <Plain key="reason">{error_reason}</Plain>],
          ['Observations', result && formatCount(result.observations)],
          ['Traces', result && formatCount(result.traces)],
          ['Rejected', result && formatCount(result.rejected)],
        ]}
      />
      {result?.errors.map(({ pointer, detail }) => (
        <p key={pointer}>
          <code>
            <Plain>{pointer}</Plain>
          </code>
          : <Plain>{detail}</Plain>
        </p>
      ))}
    </>
  )
}
