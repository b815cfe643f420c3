# debian: an empty Debian 12 in a folder, for the scripts that source this. Needs root and debootstrap.
# How this machine reaches its packages (apt's and npm's settings, certificates) is copied into the
# new system, and nowhere else.
# shellcheck shell=bash

mounted=()
unmount() {
  local i
  for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount -l "${mounted[i]}" || true; done
  mounted=()
}
leave() { # A temporary system is removed.
  unmount
  # Only when nothing of the machine is mounted in there any more.
  if [ -n "${temporary:-}" ] && ! grep -qF " $root/" /proc/mounts; then rm -rf "$temporary"; fi
}
trap leave EXIT

copy() { # copy PATH…: what there is of them, to the same place in the new system
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    mkdir -p "$root${path%/*}"
    cp -rLT "$path" "$root$path"
  done
}

# debian FOLDER PACKAGES: makes it in that folder (empty: a temporary one), whose name `root` has then; what is there
# is used again. PACKAGES, with commas between, are there besides what Debian cannot do without.
debian() {
  root=$1
  if [ -z "$root" ]; then
    temporary=$(mktemp -d "${TMPDIR:-/tmp}/keyspread-debian.XXXXXX")
    root=$temporary/root
  fi
  if [ ! -e "$root/etc/debian_version" ]; then
    local mirror
    mirror=$({ cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true; } |
      sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([^ ]+).*/\3/p' | sed -n 1p)
    debootstrap --variant=minbase --include="$2" bookworm "$root" "$mirror"
  fi
  root=$(realpath "$root")
  copy /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d \
    /etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /usr/share/keyrings \
    /usr/local/share/ca-certificates /etc/ssl/certs/ca-certificates.crt /etc/resolv.conf /etc/hosts \
    /root/.npmrc
  # An empty sources.list.d of debootstrap's own would ask the mirror twice.
  [ -e /etc/apt/sources.list ] || rm -f "$root/etc/apt/sources.list"
}

enter() { # what a program in there expects of a running system
  local path
  mount -t proc proc "$root/proc"
  mounted+=("$root/proc")
  for path in /sys /dev /dev/pts /dev/shm; do
    mkdir -p "$root$path"
    mount --bind "$path" "$root$path"
    mounted+=("$root$path")
  done
}

run() { # run COMMAND…: in there, with nothing of this shell's environment
  echo "== $*"
  chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 CI="${CI:-}" DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
