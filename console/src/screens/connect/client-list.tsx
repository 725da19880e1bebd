import { useId, useState } from 'react'
import type { OnboardingClient } from '../../api/schema.gen.d.ts'
import { HereLink } from '../../ui/here-link.tsx'
import ui from '../../ui/ui.module.css'
import { filterClients } from './arrival.ts'
import css from './connect.module.css'

/** The clients that `looptrace connect` knows, with a search. */
export function ClientList({
  clients,
  chosen,
}: {
  clients: readonly OnboardingClient[]
  chosen: string | undefined
}) {
  const id = useId()
  const [text, setText] = useState('')
  const found = filterClients(clients, text)
  return (
    <div className={css.clients}>
      <label htmlFor={id}>
        <strong>Client</strong>
      </label>
      <input
        id={id}
        type="search"
        data-filter
        placeholder="Search: openai node"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {found.length === 0 ? (
        <p className={ui.soft}>
          No client has this name. A client that can set a base URL works too: choose “a client that
          can only set a base URL”.
        </p>
      ) : (
        <ul className={css.list} aria-label="Clients">
          {found.map(({ name, title, calls }) => (
            <li key={name}>
              <HereLink
                change={{ client: name }}
                className={css.client}
                aria-current={name === chosen}
              >
                {title}
                <span className={css.calls}>{calls}</span>
              </HereLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
