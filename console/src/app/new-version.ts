const reloadedFrom = 'looptrace.reloaded-from'

/**
 * Reloads a tab whose version is no longer served: after an upgrade, its lazy parts are gone. A
 * version is reloaded once, because a part can be missing for other reasons.
 */
export function reloadForNewVersion(): void {
  // The name of this file changes with each version.
  const version = import.meta.url
  window.addEventListener('vite:preloadError', (event) => {
    if (sessionStorage.getItem(reloadedFrom) === version) return
    sessionStorage.setItem(reloadedFrom, version)
    event.preventDefault()
    window.location.reload()
  })
}
