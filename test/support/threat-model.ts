/** A row of the threat model. */
export type Threat = {
  line: number
  attack: string
  defence: string
  /** Test files, each with the parts of test names that are named. */
  tests: { path: string; names: string[] }[]
  /** The reason why there is no test. */
  no_test: string | undefined
}

/** Returns the rows of all tables with the columns attack, defence and test. */
export function threatsIn(text: string): Threat[] {
  const threats: Threat[] = []
  let isTable = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\| attack \| defence \| test \|$/.test(line)) isTable = true
    else if (!line.startsWith('|')) isTable = false
    else if (isTable && !/^\|[-|]+\|$/.test(line)) threats.push(threatIn(line, index + 1))
  }
  return threats
}

function threatIn(row: string, line: number): Threat {
  const cells = row.split('|').map((cell) => cell.trim())
  const [, attack = '', defence = '', test = ''] = cells
  const [, reason] = /^no test: (.+)$/.exec(test) ?? []
  return { line, attack, defence, tests: testsIn(test), no_test: reason }
}

/** Reads a cell such as: `a.test.ts`: one name; another …, `b.test.ts`. */
function testsIn(cell: string): Threat['tests'] {
  return [...cell.matchAll(/`([^`]+\.test\.ts)`(?:: ([^`]*))?/g)].map(
    ([, path = '', rest = '']) => ({
      path,
      names: rest
        .split(';')
        .map((name) => name.replace(/[,\s]+$/, '').trim())
        .filter((name) => name !== ''),
    }),
  )
}

/** Returns the parts of a name that its file must contain: `…` stands for anything. */
export function partsOf(name: string): string[] {
  return name
    .split('…')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
