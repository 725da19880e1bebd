import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { useUrlState } from '../browser/use-search.ts'
import css from './tabs.module.css'

/** A tab: its name in the URL, what people read, and its content, which is made when it opens. */
export type Tab = { id: string; title: ReactNode; render: () => ReactNode }

/** Tabs whose choice is in the URL, under `param`. The first one is not written there. */
export function Tabs({
  label,
  tabs,
  param = 'tab',
}: {
  label: string
  tabs: readonly Tab[]
  param?: string
}) {
  const [search, change] = useUrlState()
  const first = tabs[0]?.id ?? ''
  const open = tabs.some(({ id }) => id === search[param]) ? search[param] : first
  return (
    <Base.Root
      value={open}
      onValueChange={(id) =>
        change({ [param]: id === first ? undefined : String(id) }, { push: true })
      }
    >
      <Base.List className={css.list} aria-label={label}>
        {tabs.map(({ id, title }) => (
          <Base.Tab key={id} value={id} className={css.tab}>
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, render }) => (
        <Base.Panel key={id} value={id} className={css.panel}>
          {id === open && render()}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
