import { Dialog } from '../ui/dialog.tsx'
import css from './key-help.module.css'
import { places } from './places.ts'

const general = [
  ['?', 'This help'],
  ['Ctrl K', 'Go to a screen, a task or a trace'],
  ['/', 'Filter the list'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['space', 'Peek at the row'],
  ['[  ]', 'Previous and next of the list that you came from'],
  ['y', 'Copy a link with absolute times'],
  ['.', 'Copy the call of the API as curl'],
] as const

const trace = [
  ['h  l', 'Fold and unfold'],
  ['e', 'Next error'],
  ['n', 'Next finding'],
  ['p', 'Critical path'],
  ['+  -  0', 'Zoom'],
] as const

const incident = [
  ['a', 'Acknowledge'],
  ['r', 'Resolve'],
  ['s', 'Suppress'],
] as const

/** The keys of all screens. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const goTo = places.map(({ key, title }) => [`g ${key}`, title] as const)
  return (
    <Dialog title="Keys" open onClose={onClose} wide>
      <div className={css.columns}>
        <Keys title="Everywhere" keys={general} />
        <Keys title="Go to" keys={goTo} />
        <div>
          <Keys title="In a trace or task" keys={trace} />
          <Keys title="On incidents" keys={incident} />
        </div>
      </div>
    </Dialog>
  )
}

function Keys({ title, keys }: { title: string; keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className={css.keys}>
        {keys.map(([key, text]) => (
          <div key={key} className={css.line}>
            <dt>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
