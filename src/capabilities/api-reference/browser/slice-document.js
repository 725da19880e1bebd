/** @typedef {{ [name: string]: unknown }} Part */

/**
 * Returns the part of an OpenAPI document that is needed at a path: an operation, such as
 * `['paths', '/api/v1/tasks', 'get']`, or a group of components, with the components that it refers
 * to, also through others. For any other path, returns the document.
 *
 * @param {Part} document
 * @param {readonly string[]} path
 * @returns {Part}
 */
export function sliceDocument(document, path) {
  const { paths, components, ...rest } = document
  const [root, name = '', method = ''] = path
  const groups = toPart(components)
  if (root === 'components' && groups[name] !== undefined) {
    const found = findComponents(groups[name], groups)
    return { ...rest, components: { ...found, [name]: groups[name] } }
  }
  const { [method]: operation, parameters } = toPart(toPart(paths)[name])
  if (root !== 'paths' || operation === undefined) return document
  const own = { [method]: operation, ...(parameters !== undefined && { parameters }) }
  return { ...rest, paths: { [name]: own }, components: findComponents(own, groups) }
}

/**
 * Finds the components that a part refers to, in the same groups.
 *
 * @param {unknown} from
 * @param {Part} components
 */
function findComponents(from, components) {
  /** @type {Record<string, Part>} */
  const found = {}
  const pending = [from]
  while (pending.length > 0) {
    for (const reference of referencesOf(pending.pop())) {
      const [, group = '', name = ''] = /^#\/components\/(\w+)\/([\w.-]+)/.exec(reference) ?? []
      const component = toPart(components[group])[name]
      if (component === undefined || found[group]?.[name] !== undefined) continue
      found[group] = { ...found[group], [name]: component }
      pending.push(component)
    }
  }
  return found
}

/**
 * Lists the references inside a value.
 *
 * @param {unknown} value
 * @returns {string[]}
 */
function referencesOf(value) {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inside]) =>
    name === '$ref' && typeof inside === 'string' ? [inside] : referencesOf(inside),
  )
}

/**
 * Narrows a value to an object; of any other value, returns an empty one.
 *
 * @param {unknown} value
 * @returns {Part}
 */
function toPart(value) {
  return typeof value === 'object' && value !== null ? /** @type {Part} */ (value) : {}
}
