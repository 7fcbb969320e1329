/**
 * The shell script that builds the root of a container inside new user, mount and PID namespaces, and then becomes the container.
 * It needs no rights on the machine: everything happens in the namespaces of the container.
 *
 * The container sees the files of the machine, but its changes go to memory and are gone with it. /tmp and /run are its own and
 * empty. Mounts are made after chroot, so that links such as /var/run lead to places of the container.
 *
 * Arguments: the folder for the new root, the working directory, the host name, the number of mounts, then three arguments for
 * each mount (source, target, and ro, rw or cow: a copy on write; a file is copied at once), then the program with its arguments.
 */
export const enterScript = `set -eu
work=$1 cwd=$2 hostname=$3 count=$4
shift 4
mount -t tmpfs -o mode=755 tenure "$work"
root=$work/root
mkdir -p "$root/.tenure" "$work/upper" "$work/work"
layers=0
overlay() {
  layers=$((layers + 1))
  mkdir "$work/upper/$layers" "$work/work/$layers"
  options="lowerdir=$1,upperdir=$work/upper/$layers,workdir=$work/work/$layers"
  mount -t overlay -o "$options,userxattr" overlay "$2" 2>/dev/null ||
    mount -t overlay -o "$options" overlay "$2" 2>/dev/null ||
    mount --rbind "$1" "$2"
}
for at in /* /.[!.]*; do
  name=\${at#/}
  if [ -L "$at" ]; then
    ln -s "$(readlink "$at")" "$root/$name"
  elif [ -f "$at" ]; then
    : >"$root/$name"
    mount --bind "$at" "$root/$name" 2>/dev/null || rm -f "$root/$name"
  elif [ -d "$at" ]; then
    mkdir "$root/$name"
    case $name in
      proc) mount -t proc proc "$root/proc" ;;
      tmp) chmod 1777 "$root/tmp" ;;
      run) ;;
      dev | sys) mount --rbind "$at" "$root/$name" ;;
      *) overlay "$at" "$root/$name" ;;
    esac
  fi
done
hostname "$hostname" 2>/dev/null || true
index=0
inside=
while [ "$index" -lt "$count" ]; do
  if [ -d "$1" ]; then mkdir "$root/.tenure/$index"; else : >"$root/.tenure/$index"; fi
  case $3 in
    cow) if [ -d "$1" ]; then overlay "$1" "$root/.tenure/$index"; else cp -p "$1" "$root/.tenure/$index"; fi ;;
    *) mount --rbind "$1" "$root/.tenure/$index" ;;
  esac
  if [ "$3" = ro ]; then mount -o remount,bind,ro "$root/.tenure/$index" 2>/dev/null || true; fi
  printf '%s\\n' "$2" >>"$work/targets"
  shift 3
  index=$((index + 1))
done
: >>"$work/targets"
exec 9<"$work/targets"
exec chroot "$root" /bin/sh -c '
set -eu
cwd=$1
shift
index=0
while IFS= read -r target <&9; do
  if [ -d "/.tenure/$index" ]; then
    mkdir -p "$target"
  else
    mkdir -p "$(dirname "$target")"
    [ -e "$target" ] || : >"$target"
  fi
  mount --rbind "/.tenure/$index" "$target"
  index=$((index + 1))
done
exec 9<&-
cd "$cwd" 2>/dev/null || cd /
exec "$@"
' sh "$cwd" "$@"
`;
