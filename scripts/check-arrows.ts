import { readdirSync } from 'node:fs'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config'

/** Capabilities with rooms that import each other in a circle. */
const tangled = ['access']

/**
 * Checks the import rules of .dependency-cruiser.mjs, that rooms of other capabilities do not import
 * each other in a circle, and that dependency-cruiser saw every module of src: a version that cannot
 * parse our TypeScript would report no violation at all.
 */
const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.mjs')
const { output } = await cruise(['src', 'test', 'bench'], { ...options, ruleSet, validate: true })
const { modules, summary } = output as ICruiseResult

const seen = new Set(modules.map(({ source }) => source))
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
const unseen = files.filter((name) => /\.[jt]s$/.test(name) && !seen.has(`src/${name}`))
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`)
for (const name of unseen) console.error(`dependency-cruiser did not see src/${name}`)
const circles = findCircles(importsOfRooms())
for (const room of circles) console.error(`${room} is in a circle of rooms that import each other`)
console.log(`${modules.length} modules, ${summary.violations.length} forbidden imports`)
if (summary.violations.length + unseen.length + circles.length > 0) process.exitCode = 1

/** Returns which rooms each room of a capability imports, tests apart. */
function importsOfRooms(): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>()
  for (const { source, dependencies } of modules) {
    const from = findRoom(source)
    if (from === undefined || source.endsWith('.test.ts')) continue
    const imported = rooms.get(from) ?? new Set()
    for (const { resolved } of dependencies) imported.add(findRoom(resolved) ?? from)
    imported.delete(from)
    rooms.set(from, imported)
  }
  return rooms
}

function findRoom(path: string): string | undefined {
  const [, capability = '', room] = /^src\/capabilities\/([^/]+)\/([^/]+)\//.exec(path) ?? []
  return room === undefined || tangled.includes(capability) ? undefined : `${capability}/${room}`
}

/** Removes rooms that import no other room, or that none imports, in turn; returns the others. */
function findCircles(rooms: Map<string, Set<string>>): string[] {
  const size = rooms.size
  for (const [room, imported] of rooms) {
    const isImported = [...rooms.values()].some((others) => others.has(room))
    if (!isImported || ![...imported].some((other) => rooms.has(other))) rooms.delete(room)
  }
  return rooms.size < size ? findCircles(rooms) : [...rooms.keys()]
}
