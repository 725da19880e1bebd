import { checkAnswer, indexSeen } from '../../src/capabilities/provenance/sources/index.ts'

const seen_chars = 1_000_000
const answer_chars = 10_000
const rounds = 5

/** Measures how long 1 MB seen takes to index, and a 10 KB answer to check against it. */
export function measureSpeed(): void {
  const sources = [toolResult(0, seen_chars / 2), logLines(seen_chars / 2)].map((text, at) => ({
    source: `tool ${at}`,
    text,
  }))
  const indexed = best(() => indexSeen(sources))
  const checked = best(() => checkAnswer(answerText(), indexed.result))
  const counts = Object.groupBy(checked.result, ({ verdict }) => verdict)
  const verdicts = Object.entries(counts).map(([verdict, all]) => `${all?.length} ${verdict}`)
  console.log(`indexing 1 MB seen: ${indexed.elapsed_ms.toFixed(0)} ms`)
  console.log(`checking a 10 KB answer: ${checked.elapsed_ms.toFixed(0)} ms (${verdicts.join()})`)
}

/** Runs an action several times and returns its last result and its shortest time. */
function best<T>(action: () => T): { result: T; elapsed_ms: number } {
  let result = action()
  let elapsed_ms = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round += 1) {
    const started_ms = performance.now()
    result = action()
    elapsed_ms = Math.min(elapsed_ms, performance.now() - started_ms)
  }
  return { result, elapsed_ms }
}

const cities = ['Lund', 'Turku', 'Graz', 'Metz']

/** Returns a value that depends on its place alone. */
function figure(at: number, below: number): number {
  return Math.floor(((at * 2_654_435_761) % 4_294_967_296) / (4_294_967_296 / below))
}

function orderAt(at: number) {
  return {
    id: `PB-${10_000 + at}`,
    city: cities[at % cities.length],
    total: figure(at, 90_000) / 100,
    quantity: figure(at + 7, 60),
    shipped: `2026-0${(at % 9) + 1}-${10 + (at % 19)}`,
  }
}

function toolResult(from: number, chars: number): string {
  const orders = []
  for (let at = from, length = 0; length < chars; at += 1) {
    const order = orderAt(at)
    orders.push(order)
    length += JSON.stringify(order).length + 1
  }
  return JSON.stringify(orders)
}

function logLines(chars: number): string {
  const lines: string[] = []
  for (let at = 0, length = 0; length < chars; at += 1) {
    const line = `2026-03-${10 + (at % 19)}T08:${10 + (at % 49)}:00Z worker ${at % 40} took ${figure(at, 9000)} ms and $${figure(at + 3, 5000) / 100} for "job ${at % 977}"`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n')
}

/** Returns an answer whose figures are seen, derived or invented. */
function answerText(): string {
  let text = ''
  for (let at = 0; text.length < answer_chars; at += 1) {
    const { id, city, total, quantity, shipped } = orderAt(at * 13)
    const more = orderAt(at * 13 + 1).total
    text +=
      at % 3 === 0
        ? `Order ${id} to ${city} costs €${total} and left on ${shipped} with ${quantity} items.\n`
        : `Together they cost €${(total + more).toFixed(2)}, or ${figure(at + 99, 90_000) / 100} kg, and ${figure(at, 97)} % more in ${figure(at + 5, 300)} minutes.\n`
  }
  return text
}
