import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { OnboardingClient } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../app/use-search.ts'
import { Copy } from '../../ui/copy.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Facts } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { fillKey } from './arrival.ts'
import { ClientList } from './client-list.tsx'
import css from './connect.module.css'
import { Light } from './light.tsx'
import { ProjectKey } from './project-key.tsx'

type KeyState = { createdKey: string | undefined; onCreated: (key: string) => void }

/** The lines for each client, with the key in them, and the light of its first call. */
export function ClientSetup(key: KeyState) {
  const [search, change] = useUrlState()
  const url = search['url'] ?? window.location.origin
  const clients = api.useQuery(
    'get',
    '/api/v1/onboarding/clients',
    { params: { query: { url } } },
    { staleTime: 600_000, placeholderData: keepPreviousData },
  )
  return (
    <div className={ui.stack}>
      <AddressField key={url} url={url} onChange={(to) => change({ url: to })} />
      <Loaded query={clients} what="Reading the clients">
        {({ clients: known }) => {
          const chosen = known.find(({ name }) => name === search['client']) ?? known[0]
          return (
            <div className={css.columns}>
              <ClientList clients={known} chosen={chosen?.name} />
              {chosen !== undefined && <Lines client={chosen} {...key} />}
            </div>
          )
        }}
      </Loaded>
    </div>
  )
}

/** The address at which clients reach Looptrace, which may differ from that of this page. */
function AddressField({ url, onChange }: { url: string; onChange: (url?: string) => void }) {
  const [text, setText] = useState(url)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChange(text.trim() === window.location.origin ? undefined : text.trim())
      }}
    >
      <TextField
        label="Address of Looptrace for your clients"
        type="url"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={(event) => event.target.form?.requestSubmit()}
        hint="Change it if your programs reach Looptrace by another address than this page."
      />
    </form>
  )
}

function Lines({ client, createdKey, onCreated }: { client: OnboardingClient } & KeyState) {
  const { title, calls, place, base_url, key_in, lines, lines_with_key, advice } = client
  const base = base_url?.replace('<key>', () => createdKey ?? 'lt_…')
  const text = createdKey === undefined ? lines.join('\n') : fillKey(lines_with_key, createdKey)
  return (
    <div className={ui.stack}>
      <h2>{title}</h2>
      <Facts
        of={[
          ['Its default call', calls],
          ['Base URL', base === undefined ? null : <code key="url">{base}</code>],
          ['Project key', key_in.startsWith('the ') ? `in ${key_in}` : `header ${key_in}`],
        ]}
      />
      <ProjectKey createdKey={createdKey} onCreated={onCreated} />
      <section className={ui.stack} aria-label="Lines to paste">
        <div className={ui.row}>
          <h3 className={ui.grow}>Put this into {place.replaceAll('`', '')}</h3>
          <Copy text={() => text}>Copy the lines</Copy>
        </div>
        <pre className={css.code}>{text.trim()}</pre>
      </section>
      <Light advice={advice} />
    </div>
  )
}
