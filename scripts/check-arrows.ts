import { globSync } from 'node:fs'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config'

/** Capabilities with rooms that import each other in a circle. */
const tangled = ['access']

/**
 * Checks the import rules of .dependency-cruiser.mjs, that rooms of other capabilities and screens
 * do not import each other in a circle, and that dependency-cruiser saw every module: a version that
 * cannot parse our TypeScript would report no violation at all.
 */
const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.mjs')
const { output } = await cruise(['src', 'console/src', 'test', 'bench'], {
  ...options,
  ruleSet,
  validate: true,
})
const { modules, summary } = output as ICruiseResult

const seen = new Set(modules.map(({ source }) => source))
const unseen = ['src', 'console/src']
  .flatMap((folder) => globSync(`${folder}/**/*.{js,ts,tsx}`))
  .filter((path) => !seen.has(path))
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`)
for (const path of unseen) console.error(`dependency-cruiser did not see ${path}`)
const circles = findCircles(importsOfRooms())
for (const room of circles) console.error(`${room} is in a circle of rooms that import each other`)
console.log(`${modules.length} modules, ${summary.violations.length} forbidden imports`)
if (summary.violations.length + unseen.length + circles.length > 0) process.exitCode = 1

/** Returns which rooms each room of a capability, and each screen, imports; tests apart. */
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
  const [, screen] = /^console\/src\/screens\/([^/]+)\//.exec(path) ?? []
  if (screen !== undefined) return `screens/${screen}`
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
