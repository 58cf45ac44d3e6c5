/** Whether the browser has a network at all. Lists tell beside their heading whether they are live. */
export function showNetwork() {
  const place = document.getElementById('network')
  if (!place) return
  const show = () => {
    const isOffline = !navigator.onLine
    place.dataset.state = isOffline ? 'offline' : 'online'
    place.textContent = isOffline ? 'Offline' : 'Connected'
  }
  show()
  place.setAttribute('role', 'status')
  addEventListener('online', show)
  addEventListener('offline', show)
}
